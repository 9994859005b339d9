# The result of find_package(gantry): the targets gantry::gantry (shared) and gantry::gantry_static, and the function
# gantry_generate_messages. Their include folder has the headers of ROS 2's standard messages.
get_filename_component(GANTRY_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

include(CMakeFindDependencyMacro)
find_dependency(Threads)
if(NOT TARGET gantry::gantry)
  add_library(gantry::gantry SHARED IMPORTED GLOBAL)
  set_target_properties(gantry::gantry PROPERTIES
    IMPORTED_LOCATION "${GANTRY_PREFIX}/lib/libgantry.so.0"
    IMPORTED_SONAME "libgantry.so.0"
    INTERFACE_INCLUDE_DIRECTORIES "${GANTRY_PREFIX}/include")
  add_library(gantry::gantry_static STATIC IMPORTED GLOBAL)
  set_target_properties(gantry::gantry_static PROPERTIES
    IMPORTED_LOCATION "${GANTRY_PREFIX}/lib/libgantry.a"
    IMPORTED_LINK_INTERFACE_LANGUAGES C
    INTERFACE_INCLUDE_DIRECTORIES "${GANTRY_PREFIX}/include"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
endif()
# The path is a global property, because functions are global: gantry_generate_messages may be called in another folder
# than find_package.
set_property(GLOBAL PROPERTY GANTRY_PROGRAM "${GANTRY_PREFIX}/bin/gantry")

# gantry_generate_messages(TARGET FOLDER...) creates a header library for the messages and services in
# FOLDER/PACKAGE/{msg,srv}/*.{msg,srv}. They may contain ROS 2's standard messages. Link programs to the library; it may
# replace or accompany gantry::gantry.
function(gantry_generate_messages target)
  if(NOT ARGN)
    message(FATAL_ERROR "gantry_generate_messages(${target} FOLDER...): name a folder of packages")
  endif()
  get_property(program GLOBAL PROPERTY GANTRY_PROGRAM)
  set(folders "")
  set(files "")
  foreach(folder IN LISTS ARGN)
    get_filename_component(folder "${folder}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    file(GLOB found CONFIGURE_DEPENDS "${folder}/*/msg/*.msg" "${folder}/*/srv/*.srv")
    if(NOT found)
      message(FATAL_ERROR "gantry_generate_messages: ${folder} has no PACKAGE/msg/NAME.msg and no PACKAGE/srv/NAME.srv")
    endif()
    list(APPEND folders "${folder}")
    list(APPEND files ${found})
  endforeach()
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${target}")
  set(stamp "${CMAKE_CURRENT_BINARY_DIR}/${target}.stamp")
  add_custom_command(OUTPUT "${stamp}"
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${output}"
    COMMAND "${program}" interface cpp --output "${output}" ${folders}
    COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
    DEPENDS ${files} "${program}"
    COMMENT "C++ headers for the messages of ${target}"
    VERBATIM)
  add_custom_target(${target}_headers DEPENDS "${stamp}")
  add_library(${target} INTERFACE)
  add_dependencies(${target} ${target}_headers)
  target_include_directories(${target} INTERFACE "${output}")
  target_compile_features(${target} INTERFACE cxx_std_17)
  target_link_libraries(${target} INTERFACE gantry::gantry)
endfunction()
