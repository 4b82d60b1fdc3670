# find_package(inkle_replay) gives the targets inkle::replay, the shared library, and inkle::replay_static.
get_filename_component(_inkle_replay_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET inkle::replay)
  add_library(inkle::replay SHARED IMPORTED)
  set_target_properties(inkle::replay PROPERTIES
    IMPORTED_LOCATION "${_inkle_replay_root}/lib/libinkle_replay.so"
    IMPORTED_NO_SONAME FALSE
    INTERFACE_INCLUDE_DIRECTORIES "${_inkle_replay_root}/include")
endif()

if(NOT TARGET inkle::replay_static)
  find_package(Threads REQUIRED)
  add_library(inkle::replay_static STATIC IMPORTED)
  set_target_properties(inkle::replay_static PROPERTIES
    IMPORTED_LOCATION "${_inkle_replay_root}/lib/libinkle_replay.a"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m"
    INTERFACE_INCLUDE_DIRECTORIES "${_inkle_replay_root}/include")
endif()

unset(_inkle_replay_root)
